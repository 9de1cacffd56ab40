// Draws the plots of the page from the data it carries, and hands out the same data as tables and files.
'use strict';
(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const tables = new Map();
  for (const plot of data.plots) for (const table of plot.tables) tables.set(`${plot.id}/${table.name}`, table);
  for (const table of data.tables) tables.set(table.name, table);

  /** The rows of a table: groups hold the texts their rows have in common, then one list per column of numbers. */
  function* rows({ groups }) {
    for (const { texts, numbers } of groups) {
      for (let i = 0; i < numbers[0].length; i++) yield [...texts, ...numbers.map((column) => column[i])];
    }
  }

  const records = (table) =>
    Array.from(rows(table), (row) => Object.fromEntries(row.map((value, i) => [table.columns[i], value])));

  function csv(table) {
    const cell = (value) => {
      const text = value === null ? '' : String(value);
      return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    };
    return [table.columns, ...rows(table)].map((row) => row.map(cell).join(',') + '\r\n').join('');
  }

  const svg = (id) => standing_alone(new XMLSerializer().serializeToString(document.querySelector(`#${id} svg`)));

  /** The Vega-Lite specification of a plot with its data: any Vega-Lite tool opens it, Altair for one. */
  function spec(id) {
    const plot = data.plots.find((plot) => plot.id === id);
    return standing_alone(JSON.stringify({ $schema: data.schema, ...plot.spec, datasets: datasets(plot), config: CONFIG }));
  }

  // Colours are variables of the style sheet: a change of theme, and printing, need no new drawing.
  const CONFIG = { ...data.config, autosize: { type: 'fit-x', contains: 'padding' } };
  const datasets = (plot) => Object.fromEntries(plot.tables.map((table) => [table.name, records(table)]));

  /** The colours of the light theme in place of variables of the style sheet. */
  function standing_alone(text) {
    const light = light_variables();
    return text.replace(/var\((--[\w-]+)\)/g, (variable, name) => light.get(name) ?? variable);
  }

  function light_variables() {
    const variables = new Map();
    for (const rule of document.getElementById('style').sheet.cssRules) {
      if (rule.selectorText !== ':root') continue;
      for (const name of rule.style) if (name.startsWith('--')) variables.set(name, rule.style.getPropertyValue(name).trim());
    }
    return variables;
  }

  /** Makes the file when it is asked for: links to files of a page seldom saved need no memory until then. */
  function on_click(selector, type, text) {
    for (const link of document.querySelectorAll(selector)) {
      link.addEventListener('click', () => {
        const url = URL.createObjectURL(new Blob([text(link)], { type }));
        link.href = url;
        setTimeout(() => URL.revokeObjectURL(url), 60_000);
      });
    }
  }

  function fill(details) {
    const plot = data.plots.find(({ id }) => id === details.dataset.tables);
    for (const table of plot.tables) {
      const body = document.createElement('tbody');
      for (const row of rows(table)) {
        const line = body.insertRow();
        row.forEach((value, i) => {
          const cell = line.insertCell();
          cell.textContent = value ?? '';
          if (typeof value === 'string') cell.className = 'words';
        });
      }
      const element = document.createElement('table');
      element.createCaption().textContent = table.name === 'table' ? `${body.rows.length} points, as drawn` : table.name;
      const head = element.createTHead().insertRow();
      for (const column of table.columns) {
        const cell = document.createElement('th');
        cell.scope = 'col';
        cell.textContent = column;
        head.append(cell);
      }
      element.append(body);
      const scroll = document.createElement('div');
      scroll.className = 'scroll';
      scroll.tabIndex = 0;
      scroll.setAttribute('role', 'region');
      scroll.setAttribute('aria-label', `Data: ${table.name === 'table' ? plot.id : `${plot.id}, ${table.name}`}`);
      scroll.append(element);
      details.append(scroll);
    }
  }

  /** Sorts a table by one of its columns, the other way round the second time: numbers, then words, then what is missing. */
  function sort(table, head) {
    const descending = head.ariaSort === 'ascending';
    const key = (row) => {
      const cell = row.cells[head.cellIndex];
      const text = cell.textContent.trim();
      // Numbers that are rounded alike are not equal.
      const number = parseFloat(cell.dataset.value ?? text);
      return text === '–' ? [2, 0] : Number.isNaN(number) ? [1, text] : [0, number];
    };
    const order = ([a, x], [b, y]) => a - b || (x < y ? -1 : x > y ? 1 : 0) * (descending && a < 2 ? -1 : 1);
    const rows = Array.from(table.tBodies[0].rows, (row) => [key(row), row]).sort(([a], [b]) => order(a, b));
    table.tBodies[0].append(...rows.map(([, row]) => row));
    for (const other of head.parentElement.cells) other.removeAttribute('aria-sort');
    head.setAttribute('aria-sort', descending ? 'descending' : 'ascending');
  }

  const drawn = (plot) => 'drawn' in document.getElementById(plot.id).dataset;
  const whole = (plot) => ({ ...plot.spec, datasets: datasets(plot) });
  const frame = (plot) => document.getElementById(plot.id).querySelector('.plot > div');

  async function draw(plot) {
    if (drawn(plot)) return;
    const options = { mode: 'vega-lite', renderer: 'svg', actions: false, ast: true, config: CONFIG, tooltip: { theme: 'custom' } };
    await vegaEmbed(frame(plot), whole(plot), options);
    document.getElementById(plot.id).dataset.drawn = '';
  }

  /** Draws within the call: a browser that prints does not wait for a promise. */
  function draw_at_once(plot) {
    if (drawn(plot)) return;
    const { spec } = vegaLite.compile(whole(plot), { config: CONFIG });
    frame(plot).replaceChildren();
    new vega.View(vega.parse(spec, null, { ast: true }), { renderer: 'svg', expr: vega.expressionInterpreter }).initialize(frame(plot)).run();
    document.getElementById(plot.id).dataset.drawn = '';
  }

  // Paper has no lid to open: what is shut is printed too, but for the numbers of the plots.
  let opened = [];
  addEventListener('beforeprint', () => {
    data.plots.forEach(draw_at_once);
    opened = [...document.querySelectorAll('details:not([open], [data-tables])')];
    for (const details of opened) details.open = true;
  });
  addEventListener('afterprint', () => {
    for (const details of opened) details.open = false;
  });

  on_click('a[data-csv]', 'text/csv;charset=utf-8', (link) => csv(tables.get(link.dataset.csv)));
  on_click('a[data-svg]', 'image/svg+xml', (link) => svg(link.dataset.svg));
  on_click('a[data-spec]', 'application/json', (link) => spec(link.dataset.spec));
  for (const button of document.querySelectorAll('button[data-copy]')) {
    const label = button.textContent;
    button.addEventListener('click', async () => {
      const text = document.getElementById(button.dataset.copy);
      try {
        await navigator.clipboard.writeText(text.textContent);
        button.textContent = 'Copied';
        setTimeout(() => (button.textContent = label), 2_000);
      } catch {
        // Without access to the clipboard the reader copies what is selected.
        text.hidden = false;
        getSelection().selectAllChildren(text);
      }
    });
  }
  for (const details of document.querySelectorAll('details[data-tables]')) {
    details.addEventListener('toggle', () => fill(details), { once: true });
  }

  for (const table of document.querySelectorAll('table.sortable')) {
    // A column of links has no order.
    for (const head of table.tHead.rows[0].cells) head.querySelector('button')?.addEventListener('click', () => sort(table, head));
  }

  const idle = window.requestIdleCallback ?? ((work) => setTimeout(work, 0));
  (async () => {
    for (const plot of data.plots) {
      // One plot at a time, so that the page can be scrolled and read from the first moment.
      await new Promise((resolve) => idle(resolve, { timeout: 200 }));
      await draw(plot);
    }
    document.documentElement.dataset.drawn = data.plots.length;
  })();
})();
