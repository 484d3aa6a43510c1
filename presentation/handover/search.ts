/**
 * The search in the HTML report: the only script of the page. The content security policy allows it by its hash, and
 * allows no connections. The search field stays hidden where scripts do not run.
 */

/** Shows only companies that match every word of the search, in name or reference, ignoring case and accents. */
export const PAGE_SCRIPT = `
(() => {
  const field = document.getElementById('search');
  const found = document.getElementById('found');
  const searchable = (text) => text.normalize('NFD').replace(/[\\u0300-\\u036f]/g, '').toLowerCase();
  let tables;
  let timer;
  const readTables = () =>
    [...document.querySelectorAll('table.companies')].map((table) => ({
      section: table.closest('section'),
      rows: [...table.tBodies[0].rows].map((row) => {
        const company = row.cells[0].textContent;
        return { row, company, text: searchable(company) };
      }),
    }));
  const filter = () => {
    tables ??= readTables();
    const words = searchable(field.value).split(/\\s+/).filter((word) => word !== '');
    // A company can be in several sections.
    const companies = new Set();
    for (const { section, rows } of tables) {
      let shown = 0;
      for (const { row, company, text } of rows) {
        const isShown = words.every((word) => text.includes(word));
        if (isShown) {
          shown += 1;
          companies.add(company);
        }
        if (row.hidden === isShown) row.hidden = !isShown;
      }
      section.hidden = shown === 0;
    }
    found.textContent = words.length === 0 ? '' :
      companies.size === 1 ? '1 company found' : companies.size.toLocaleString('en-US') + ' companies found';
  };
  field.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(filter, 150);
  });
  field.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return;
    field.value = '';
    filter();
  });
  document.getElementById('find').hidden = false;
})();
`;
