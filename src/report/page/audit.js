// The page about an audit log: a row is a run, a refusal, a denial, a decision about egress or another record.

const CLASSES = ['run', 'refusal', 'denial', 'egress', 'other'];

const shownTime = time => time.slice(0, 10) + ' ' + time.slice(11, 19);

function durationOf(ms) {
  return ms === 0 ? '' : ms < 1000 ? ms + ' ms' : (ms / 1000).toFixed(1) + ' s';
}

function columnsOf(data) {
  const text = name => (cell, row) => { cell.textContent = cell.title = data.text(name, row); };
  return [
    {label: 'Time (UTC)', sort: 'time', className: 'second code', fill: (cell, row) => { cell.textContent = shownTime(data.text('time', row)); }},
    {label: 'What', sort: 'class', fill: (cell, row) => {
      const name = CLASSES[data.columns.class[row]];
      cell.append(make('i', {class: 'dot back-' + name}), name, data.columns.proven[row] ? '' : make('small', {text: 'not proven'}));
    }},
    {label: 'Tool', sort: 'tool', className: 'minor', fill: text('tool')},
    {label: 'Outcome', sort: 'outcome', className: 'third', fill: text('outcome')},
    {label: 'Call', sort: 'what', className: 'code main', fill: text('what')},
    {label: 'Jail', sort: 'jail', className: 'minor', fill: text('jail')},
    {label: 'Duration', sort: 'duration', className: 'minor n', fill: (cell, row) => { cell.textContent = durationOf(data.columns.duration[row]); }},
  ];
}

function sectionsOf(data, row) {
  return [
    {code: data.text('what', row), lines: [
      ['Time', data.text('time', row)], ['Outcome', data.text('outcome', row)], ['Duration', durationOf(data.columns.duration[row])],
      ['Proof', data.columns.proven[row] ? '' : 'this record is after the damage; only its own hash is right'],
    ]},
    {title: 'What it was granted', lines: pairs(data.text('granted', row))},
    {title: 'What held', lines: pairs(data.text('held', row))},
    {title: 'More', lines: pairs(data.text('more', row))},
  ];
}

async function makeChoice(host, data, label, column, changed) {
  const values = await data.mostOf(column);
  const select = choice(host, label, [['', label], ...values.map(({place, text, count}) => [String(place), text + ' (' + grouped(count) + ')'])], changed);
  return {select, keep: row => select.value === '' || data.columns[column][row] === Number(select.value)};
}

function timeField(host, label, changed) {
  const input = make('input', {type: 'datetime-local', step: 1, 'aria-label': label});
  input.addEventListener('change', changed);
  host.append(make('label', {}, label, input));
  return input;
}

// Times of a log have one form, so they are compared as text. The end is included to its last microsecond. A field leaves out
// its seconds if they are 0; without them the end would be a whole minute.
function timeFilter(data, from, to) {
  return row => {
    const time = data.text('time', row);
    return (from.value === '' || time >= from.value) && (to.value === '' || time.slice(0, 19) <= to.value.padEnd(19, ':00'));
  };
}

async function start() {
  const data = await Data.load();
  const host = document.getElementById('live');
  if (data.rows === 0) {
    document.documentElement.dataset.ready = 'true';
    return;
  }
  const counts = CLASSES.map(() => 0);
  await inSlices(data.rows, row => { counts[data.columns.class[row]]++; });
  const controls = make('div', {class: 'controls'});
  const details = new Details();
  let grid = null;
  const changed = () => { grid.query = search.value; grid.update(); };
  const search = searchField(controls, 'Search records', changed);
  const kept = chips(controls, CLASSES, counts, 'What', changed);
  const tool = await makeChoice(controls, data, 'All tools', 'tool', changed);
  const outcome = await makeChoice(controls, data, 'All outcomes', 'outcome', changed);
  const from = timeField(controls, 'From (UTC)', changed);
  const to = timeField(controls, 'to', changed);
  const inTime = timeFilter(data, from, to);
  const step = by => { grid.move(grid.current + by); grid.open(); };
  const open = (row, place) => details.show(data.text('tool', row) || data.text('outcome', row), sectionsOf(data, row), place, step);
  const isDamaged = data.columns.proven.some(proven => proven === 0);
  host.append(controls);
  grid = new Grid(host, data, {
    className: isDamaged ? 'calls damaged' : 'calls', label: 'Records', columns: columnsOf(data), open, controls, changed,
    start: {column: null, down: true}, orderName: 'The newest first',
    searched: ['time', 'tool', 'outcome', 'what', 'jail', 'granted', 'held', 'more'],
    mark: row => data.columns.proven[row] ? '' : 'doubtful',
    keep: row => kept.has(data.columns.class[row]) && tool.keep(row) && outcome.keep(row) && inTime(row),
  });
  document.addEventListener('click', event => {
    const link = event.target.closest('a[data-tool]');
    const column = event.target.closest('g[data-from]');
    if (link) {
      tool.select.value = [...tool.select.options].find(option => option.value !== '' && data.texts[option.value] === link.dataset.tool)?.value || '';
    } else if (column) {
      [from.value, to.value] = [column.dataset.from, column.dataset.to];
      document.getElementById('calls').scrollIntoView();
    } else {
      return;
    }
    changed();
  });
  take(host);
  await grid.update();
}

start();
