// The table of both pages: reads the data of the page, filters, sorts and shows the rows that are in view.
//
// Nothing here takes long at once: what goes over all rows or texts does so in slices, and gives up when a later wish
// has come. Texts are only ever set as text, never as markup.

const SLICE_MS = 8;
const CHOICES_MAX = 500; // of a list to choose from, because a log may name 100,000 tools; the search finds the others
const SPARE_ROWS = 8; // above and below what is in view
const CLOSE = 2; // the place of that button among those of the details

const channel = new MessageChannel();
const waiting = [];
channel.port1.onmessage = () => waiting.shift()();

function nextTask() {
  return new Promise(done => {
    waiting.push(done);
    channel.port2.postMessage(0);
  });
}

// Calls step(0) to step(count - 1); false if isStale said that the result is of no use any more.
async function inSlices(count, step, isStale) {
  let until = performance.now() + SLICE_MS;
  for (let i = 0; i < count; i++) {
    step(i);
    if ((i & 255) === 255 && performance.now() > until) {
      await nextTask();
      if (isStale && isStale()) {
        return false;
      }
      until = performance.now() + SLICE_MS;
    }
  }
  return true;
}

function make(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === 'text') {
      node.textContent = value;
    } else if (value !== null && value !== undefined && value !== false) {
      node.setAttribute(name, value === true ? '' : value);
    }
  }
  node.append(...children);
  return node;
}

const grouped = number => number.toLocaleString('en-US');

// The rows as src/report/grid.c writes them: columns of numbers; a text is its place in a sorted list.
class Data {
  static async load() {
    const description = JSON.parse(document.getElementById('data').textContent);
    const data = new Data();
    data.rows = description.rows;
    data.texts = new Array(description.texts);
    data.columns = {};
    data.isText = {};
    for (const [name, isText] of description.columns) {
      data.columns[name] = new Float64Array(data.rows);
      data.isText[name] = isText;
    }
    let at = 0;
    for (const element of document.querySelectorAll('script.data-texts')) {
      for (const text of JSON.parse(element.textContent)) {
        data.texts[at++] = text;
      }
      element.remove();
      await nextTask();
    }
    at = 0;
    for (const element of document.querySelectorAll('script.data-rows')) {
      const part = JSON.parse(element.textContent);
      description.columns.forEach(([name], i) => {
        const values = part.columns[i];
        if (typeof values === 'number') {
          data.columns[name].fill(values, at, at + part.rows);
        } else {
          data.columns[name].set(values, at);
        }
      });
      at += part.rows;
      element.remove();
      await nextTask();
    }
    return data;
  }

  text(column, row) {
    return this.texts[this.columns[column][row]];
  }

  // The different texts of a column, in their order, and how many rows have each.
  async distinct(column) {
    const counts = new Map();
    const values = this.columns[column];
    await inSlices(this.rows, row => counts.set(values[row], (counts.get(values[row]) || 0) + 1));
    return [...counts].sort((a, b) => a[0] - b[0]).map(([place, count]) => ({place, count, text: this.texts[place]}));
  }

  // Those to choose from, the most frequent first.
  async mostOf(column) {
    return (await this.distinct(column)).filter(({text}) => text !== '').sort((a, b) => b.count - a.count).slice(0, CHOICES_MAX);
  }

  // All rows in the order of a column; rows that are equal stay in the order of the page. A sort by the lower half of
  // the numbers, then one by the upper half, each by counting: it can be done in slices.
  async sorted(column, isStale) {
    const values = this.columns[column];
    let order = null;
    for (const half of [value => value & 0xffff, value => Math.min(value / 0x10000, 0xffff) & 0xffff]) {
      const starts = new Uint32Array(0x10001);
      const sorted = new Uint32Array(this.rows);
      const from = order;
      if (!await inSlices(this.rows, row => { starts[half(values[row]) + 1]++; }, isStale)) {
        return null;
      }
      for (let i = 1; i < starts.length; i++) {
        starts[i] += starts[i - 1];
      }
      const place = i => {
        const row = from ? from[i] : i;
        sorted[starts[half(values[row])]++] = row;
      };
      if (!await inSlices(this.rows, place, isStale)) {
        return null;
      }
      order = sorted;
    }
    return order;
  }

  // For each text which of the words it has, a bit for each. A word need not be whole.
  async search(words, isStale) {
    if (!this.lower) {
      const lower = new Array(this.texts.length);
      if (!await inSlices(this.texts.length, i => { lower[i] = this.texts[i].toLowerCase(); }, isStale)) {
        return null;
      }
      this.lower = lower;
    }
    const hits = new Uint8Array(this.texts.length);
    const done = await inSlices(this.texts.length, i => {
      for (let w = 0; w < words.length; w++) {
        if (this.lower[i].includes(words[w])) {
          hits[i] |= 1 << w;
        }
      }
    }, isStale);
    return done ? hits : null;
  }
}

// The list. view: {columns: [{label, sort, className, fill(cell, row)}], searched: [names of columns], keep(row), open(row),
// className, label, controls: the element with the search and the filters, changed(): what they call, start: {column, down},
// orderName: the order at the start, in words}
class Grid {
  constructor(host, data, view) {
    this.data = data;
    this.view = view;
    this.turn = 0;
    this.query = '';
    this.order = null; // of all rows; null: that of the page
    this.sorting = view.start;
    this.shown = new Uint32Array(0);
    this.current = 0;
    this.build(host);
  }

  build(host) {
    this.count = make('p', {class: 'count', role: 'status', 'aria-live': 'polite'});
    this.clear = make('button', {type: 'button', class: 'clear', hidden: true, text: 'Clear all filters'});
    this.clear.addEventListener('click', () => { clearControls(this.view.controls); this.view.changed(); this.grid.focus({preventScroll: true}); });
    this.heads = this.view.columns.map(column => {
      const button = make('button', {type: 'button', text: column.label});
      button.addEventListener('click', () => this.sort(column.sort));
      return {column, button, cell: make('div', {role: 'columnheader', class: 'cell ' + (column.className || '')}, button)};
    });
    const top = make('div', {class: 'top', role: 'rowgroup'}, make('div', {class: 'row', role: 'row'}, ...this.heads.map(head => head.cell)));
    this.rows = make('div', {class: 'rows'});
    this.space = make('div');
    this.scroller = make('div', {class: 'scroller', role: 'rowgroup', tabindex: -1}, this.space, this.rows);
    this.grid = make('div', {class: 'grid ' + this.view.className, role: 'grid', tabindex: 0, 'aria-label': this.view.label}, top, this.scroller);
    const bar = make('div', {class: 'over'}, this.count, this.clear);
    this.makeOrders(bar);
    host.append(bar, this.grid);
    this.scroller.addEventListener('scroll', () => this.later(), {passive: true});
    window.addEventListener('resize', () => { this.height = 0; this.later(); });
    this.grid.addEventListener('keydown', event => this.key(event));
    this.rows.addEventListener('click', event => {
      const row = event.target.closest('.row');
      if (row) {
        // After the details are closed the focus is back on the list, where the arrows work.
        this.grid.focus({preventScroll: true});
        this.move(Number(row.dataset.at));
        this.open();
      }
    });
  }

  // In a narrow window the columns have no heads to click.
  makeOrders(host) {
    const columns = this.view.columns;
    const options = columns.flatMap(({label}, i) => [['up' + i, label + ' ↑'], ['down' + i, label + ' ↓']]);
    this.orders = choice(host, 'Order', [['', this.view.orderName], ...options], () => {
      const [, way, i] = /^(up|down)(\d+)$/.exec(this.orders.value) || [];
      const {column, down} = way ? {column: columns[i].sort, down: way === 'down'} : this.view.start;
      this.sort(column, down);
    });
    this.orders.className = 'orders';
  }

  later() {
    if (!this.frame) {
      this.frame = requestAnimationFrame(() => { this.frame = 0; this.draw(); });
    }
  }

  // Sorts by a column; by the same column again, the other way round.
  async sort(column, down = this.sorting.column === column && !this.sorting.down) {
    this.sorting = {column, down};
    this.order = null;
    await this.update();
  }

  async update() {
    const turn = ++this.turn;
    const isStale = () => turn !== this.turn;
    this.grid.setAttribute('aria-busy', 'true');
    if (this.sorting.column && !this.order) {
      const order = await this.data.sorted(this.sorting.column, isStale);
      if (!order) {
        return;
      }
      this.order = order;
    }
    const shown = await this.select(isStale);
    if (!shown || isStale()) {
      return;
    }
    this.shown = shown;
    this.current = 0;
    this.scroller.scrollTop = 0;
    this.grid.setAttribute('aria-rowcount', shown.length + 1);
    this.clear.hidden = !isNarrowed(this.view.controls);
    const at = this.view.columns.findIndex(column => column.sort === this.sorting.column);
    this.orders.value = at < 0 ? '' : (this.sorting.down ? 'down' : 'up') + at;
    this.count.textContent = shown.length === this.data.rows ? grouped(shown.length) + ' shown' : grouped(shown.length) + ' of ' + grouped(this.data.rows) + ' shown';
    for (const {column, button, cell} of this.heads) {
      const own = column.sort === this.sorting.column;
      cell.setAttribute('aria-sort', own ? (this.sorting.down ? 'descending' : 'ascending') : 'none');
      button.dataset.order = own ? (this.sorting.down ? 'down' : 'up') : '';
    }
    this.draw();
    this.grid.setAttribute('aria-busy', 'false');
  }

  // The rows that the search and the filters leave, in order.
  async select(isStale) {
    const {data, view, order} = this;
    const words = this.query.toLowerCase().split(/\s+/).filter(word => word !== '').slice(0, 8);
    const hits = words.length > 0 ? await data.search(words, isStale) : null;
    if (words.length > 0 && !hits) {
      return null;
    }
    const all = (1 << words.length) - 1;
    const searched = view.searched.map(name => data.columns[name]);
    const shown = new Uint32Array(data.rows);
    let count = 0;
    const done = await inSlices(data.rows, i => {
      const at = this.sorting.down ? data.rows - 1 - i : i;
      const row = order ? order[at] : at;
      if (hits) {
        let found = 0;
        for (const values of searched) {
          found |= hits[values[row]];
        }
        if (found !== all) {
          return;
        }
      }
      if (view.keep(row)) {
        shown[count++] = row;
      }
    }, isStale);
    return done ? shown.slice(0, count) : null;
  }

  draw() {
    if (!this.height) {
      this.rows.replaceChildren(make('div', {class: 'row'}));
      this.height = this.rows.firstChild.offsetHeight;
      // No taller than all rows need: a filter must not change it, or what is below would jump.
      this.scroller.style.maxHeight = this.height * Math.max(3, this.data.rows) + 'px';
    }
    const first = Math.max(0, Math.floor(this.scroller.scrollTop / this.height) - SPARE_ROWS);
    const end = Math.min(this.shown.length, first + Math.ceil(this.scroller.clientHeight / this.height) + 2 * SPARE_ROWS);
    const rows = [];
    for (let at = first; at < end; at++) {
      rows.push(this.row(at));
    }
    this.space.style.height = this.height * this.shown.length + 'px';
    this.rows.style.top = this.height * first + 'px';
    this.rows.replaceChildren(...rows);
    if (this.shown.length === 0) {
      this.rows.replaceChildren(make('p', {class: 'empty', text: 'Nothing matches the search and the filters.'}));
      this.grid.removeAttribute('aria-activedescendant');
    }
    if (this.current >= first && this.current < end) {
      this.grid.setAttribute('aria-activedescendant', 'row-' + this.current);
    }
  }

  row(at) {
    const row = this.shown[at];
    const node = make('div', {class: at === this.current ? 'row current' : 'row', role: 'row', id: 'row-' + at, 'data-at': at, 'aria-rowindex': at + 2, 'aria-selected': at === this.current ? 'true' : 'false'});
    if (this.view.mark && this.view.mark(row)) {
      node.classList.add(this.view.mark(row));
    }
    for (const column of this.view.columns) {
      const cell = make('div', {role: 'gridcell', class: 'cell ' + (column.className || '')});
      column.fill(cell, row);
      node.append(cell);
    }
    return node;
  }

  move(to) {
    this.current = Math.max(0, Math.min(this.shown.length - 1, to));
    const top = this.current * this.height;
    if (top < this.scroller.scrollTop) {
      this.scroller.scrollTop = top;
    } else if (top + this.height > this.scroller.scrollTop + this.scroller.clientHeight) {
      this.scroller.scrollTop = top + this.height - this.scroller.clientHeight;
    }
    this.draw();
  }

  open() {
    if (this.shown.length > 0) {
      this.view.open(this.shown[this.current], grouped(this.current + 1) + ' of ' + grouped(this.shown.length));
    }
  }

  key(event) {
    if (event.target.tagName === 'BUTTON') {
      return;
    }
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / this.height) - 1);
    const moves = {ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity};
    if (event.key in moves) {
      event.preventDefault();
      this.move(this.current + moves[event.key]);
    } else if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      this.open();
    }
  }
}

// One row in full. sections: [{title, lines: [[label, value]], code}]
class Details {
  constructor() {
    this.inner = make('div', {class: 'inner'});
    this.dialog = make('dialog', {'aria-labelledby': 'details-title'}, this.inner);
    document.body.append(this.dialog);
    this.dialog.addEventListener('click', event => {
      if (event.target === this.dialog) {
        this.dialog.close();
      }
    });
  }

  // place: which of how many it is. step(1) goes on to the next.
  show(title, sections, place, step) {
    const buttons = [['Previous', () => step(-1)], ['Next', () => step(1)], ['Close', () => this.dialog.close()]].map(([text, act]) => {
      const button = make('button', {type: 'button', text});
      button.addEventListener('click', act);
      return button;
    });
    this.inner.replaceChildren(make('h2', {id: 'details-title', text: title}));
    for (const section of sections) {
      this.add(section);
    }
    this.inner.append(make('div', {class: 'buttons'}, make('span', {class: 'quiet', text: place}), ...buttons));
    if (!this.dialog.open) {
      this.focus = CLOSE;
      this.dialog.showModal();
    }
    buttons[this.focus].focus({preventScroll: true});
    buttons.forEach((button, i) => button.addEventListener('focus', () => { this.focus = i; }));
    this.dialog.scrollTop = 0;
  }

  add({title, lines = [], code}) {
    const given = lines.filter(([, value]) => value !== '');
    if (title && (given.length > 0 || code)) {
      this.inner.append(make('h3', {text: title}));
    }
    if (code) {
      this.inner.append(make('pre', {text: code}));
    }
    if (given.length > 0) {
      this.inner.append(make('dl', {}, ...given.flatMap(([label, value]) => [make('dt', {text: label}), make('dd', {text: value})])));
    }
  }
}

// "LABEL<tab>VALUE" lines, as C joins them.
const pairs = text => text === '' ? [] : text.split('\n').map(line => line.split('\t'));

// Buttons that leave out a kind each. Returns the set of those that are kept.
function chips(host, names, counts, label, changed) {
  const kept = new Set(names.keys());
  const group = make('div', {class: 'chips', role: 'group', 'aria-label': label});
  names.forEach((name, i) => {
    if (counts[i] === 0) {
      return;
    }
    const button = make('button', {type: 'button', 'aria-pressed': 'true', 'data-name': name}, make('i', {class: 'dot back-' + name}), name + ' ' + grouped(counts[i]));
    button.addEventListener('click', () => {
      if (!kept.delete(i)) {
        kept.add(i);
      }
      button.setAttribute('aria-pressed', kept.has(i) ? 'true' : 'false');
      changed();
    });
    group.append(button);
  });
  host.append(group);
  return kept;
}

// options: [[value, text]]; the first stands for all.
function choice(host, label, options, changed) {
  const select = make('select', {'aria-label': label}, ...options.map(([value, text]) => make('option', {value, text})));
  select.addEventListener('change', changed);
  host.append(select);
  return select;
}

// Whether any of the search and the filters leaves something out.
function isNarrowed(controls) {
  return controls.querySelector('[aria-pressed=false], .pin') !== null || [...controls.querySelectorAll('input')].some(field => field.value !== '') ||
    [...controls.querySelectorAll('select')].some(select => select.selectedIndex > 0);
}

function clearControls(controls) {
  controls.querySelectorAll('input').forEach(field => { field.value = ''; });
  controls.querySelectorAll('select').forEach(select => { select.selectedIndex = 0; });
  controls.querySelectorAll('[aria-pressed=false], .pin').forEach(button => button.click());
}

// A path that does not fit loses its beginning, not the name of the file and the line.
function fillTail(cell, text) {
  cell.append(make('bdi', {dir: 'ltr', text}));
  cell.title = text;
}

function searchField(host, label, changed) {
  const input = make('input', {type: 'search', placeholder: label + '  ( / )', 'aria-label': label, autocomplete: 'off', spellcheck: 'false'});
  input.addEventListener('input', changed);
  input.addEventListener('keydown', event => {
    if (event.key === 'Escape' && input.value !== '') {
      event.preventDefault();
      input.value = '';
      changed();
    }
  });
  document.addEventListener('keydown', event => {
    if (event.key === '/' && !event.ctrlKey && !event.metaKey && !document.querySelector('dialog[open]') && !/^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName)) {
      event.preventDefault();
      input.focus();
    }
  });
  host.append(input);
  return input;
}

// Shows what the script made in place of the table for readers without it.
function take(host) {
  host.hidden = false;
  document.getElementById('static').hidden = true;
  document.documentElement.dataset.ready = 'true';
}
