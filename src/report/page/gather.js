// The page about documents of gather: which columns it has, how they are filtered, and what a finding says in full.

const SEVERITIES = ['critical', 'high', 'medium', 'low', 'info'];
const STATES = ['listed', 'new', 'known', 'gone', 'not looked for again'];
const GONE = 3; // this state and the next one are of the look before

const severityOf = (data, row) => SEVERITIES[data.columns.severity[row]];

function whereOf(data, row) {
  const line = data.columns.line[row];
  return data.text('path', row) + (line > 0 ? ':' + line : '');
}

function columnsOf(data, isMany) {
  const text = name => (cell, row) => { cell.textContent = data.text(name, row); };
  const columns = [{
    label: 'Severity', sort: 'severity',
    fill: (cell, row) => cell.append(make('i', {class: 'dot back-' + severityOf(data, row)}), severityOf(data, row)),
  }];
  if (isMany) {
    columns.push({label: 'Repository', sort: 'repository', className: 'third', fill: (cell, row) => {
      cell.textContent = data.text('repository', row).replace(/\/+$/, '').split('/').pop();
      cell.title = data.text('repository', row);
    }});
  }
  columns.push({label: 'Finding', sort: 'message', className: 'main', fill: (cell, row) => {
    cell.append(data.text('message', row), make('small', {text: data.text('rule', row)}));
    cell.title = data.text('message', row);
  }}, {label: 'Where', sort: 'path', className: 'second code tail', fill: (cell, row) => fillTail(cell, whereOf(data, row))}, {label: 'Seen by', sort: 'seen_by', className: 'minor', fill: text('seen_by')});
  return columns;
}

function sectionsOf(data, row) {
  const said = pairs(data.text('details', row)).map(([probe, rule, message]) => [probe, rule + ': ' + message]);
  return [{
    code: data.text('source', row),
    lines: [
      ['Severity', severityOf(data, row)],
      ['Compared with before', data.columns.state[row] > 0 ? STATES[data.columns.state[row]] : ''],
      ['Repository', data.text('repository', row)],
      ['Where', whereOf(data, row)],
      ['Commit in the history', data.text('commit', row)],
      ['Kind of place', data.text('place', row)],
      ['Rule', data.text('rule', row)],
      ['Seen by', data.text('seen_by', row)],
    ],
  }, {title: 'What each said', lines: said}];
}

// Each choice is a set of places in the list of texts; null keeps all.
async function makeFilters(host, data, isMany, changed) {
  const filters = [];
  const add = (label, column, options) => {
    const select = choice(host, label, [['', label], ...options.map((option, i) => [String(i), option.label])], changed);
    filters.push(row => select.value === '' || options[select.value].places.has(data.columns[column][row]));
  };
  const seenBy = await data.distinct('seen_by');
  const probes = [...new Set(seenBy.flatMap(({text}) => text.split(', ')))].filter(name => name !== '').sort();
  if (probes.length > 1) {
    add('All probes', 'seen_by', probes.map(label => ({label, places: new Set(seenBy.filter(({text}) => text.split(', ').includes(label)).map(({place}) => place))})));
  }
  const simple = async (label, column) => {
    const values = await data.mostOf(column);
    if (values.length > 1) {
      add(label, column, values.map(({text, place, count}) => ({label: text + ' (' + grouped(count) + ')', places: new Set([place])})));
    }
  };
  await simple('All places', 'place');
  if (isMany) {
    await simple('All repositories', 'repository');
  }
  return filters;
}

function makeStateFilter(host, counts, changed) {
  if (counts[0] === counts.reduce((sum, count) => sum + count, 0)) {
    return () => 'here';
  }
  const names = ['', 'New', 'Known', 'Gone', 'Not looked for again'];
  const select = choice(host, 'Compared with before', [['here', 'All that are there'],
    ...[1, 2, 3, 4].filter(i => i < 4 || counts[i] > 0).map(i => [String(i), names[i] + ' (' + grouped(counts[i]) + ')'])], changed);
  return () => select.value;
}

// As src/report/tally.c names directories.
function directoryOf(path) {
  const found = /^[^/]*\/(?:[^/]*\/)?/.exec(path);
  return found ? found[0] : path === '' ? '(no file)' : '(top directory)';
}

// What a line of a chart counts, and nothing else: a search for its words would also find them in other places. It is a
// button among the filters, which takes it away.
class Pin {
  constructor(host, data, changed) {
    Object.assign(this, {host, data, changed, button: null, keep: () => true});
  }

  set(column, value) {
    this.drop();
    const of = column === 'directory' ? row => directoryOf(this.data.text('path', row)) : row => this.data.text(column, row);
    this.keep = row => of(row) === value;
    this.button = make('button', {type: 'button', class: 'pin', title: 'Show the others again'}, column + ': ', make('b', {text: value}), ' ×');
    this.button.addEventListener('click', () => { this.drop(); this.changed(); });
    this.host.append(this.button);
  }

  drop() {
    this.button?.remove();
    this.keep = () => true;
  }
}

async function start() {
  const data = await Data.load();
  const host = document.getElementById('live');
  if (data.rows === 0) {
    document.documentElement.dataset.ready = 'true';
    return;
  }
  const {severity, state} = data.columns;
  const counts = SEVERITIES.map(() => 0);
  const states = STATES.map(() => 0);
  await inSlices(data.rows, row => {
    states[state[row]]++;
    counts[severity[row]] += state[row] >= GONE ? 0 : 1;
  });
  const isMany = data.columns.repository.some(value => data.texts[value] !== '');
  const controls = make('div', {class: 'controls'});
  const details = new Details();
  let grid = null;
  const changed = () => { grid.query = search.value; grid.update(); };
  const search = searchField(controls, 'Search findings', changed);
  const kept = chips(controls, SEVERITIES, counts, 'Severity', changed);
  const stateOf = makeStateFilter(controls, states, changed);
  const filters = await makeFilters(controls, data, isMany, changed);
  const pin = new Pin(controls, data, changed);
  const step = by => { grid.move(grid.current + by); grid.open(); };
  const open = (row, place) => details.show(data.text('message', row) || data.text('rule', row), sectionsOf(data, row), place, step);
  host.append(controls);
  grid = new Grid(host, data, {
    className: isMany ? 'findings many' : 'findings', label: 'Findings', columns: columnsOf(data, isMany), open, controls, changed,
    start: {column: null, down: false}, orderName: 'The worst first',
    searched: ['message', 'rule', 'path', 'repository', 'seen_by', 'source'],
    keep: row => kept.has(severity[row]) && pin.keep(row) && (stateOf() === 'here' ? state[row] < GONE : state[row] === Number(stateOf())) && filters.every(filter => filter(row)),
  });
  document.addEventListener('click', event => {
    const link = event.target.closest('a[data-column]');
    if (link) {
      search.value = '';
      pin.set(link.dataset.column, link.dataset.value);
      changed();
    }
  });
  take(host);
  await grid.update();
}

start();
