/** `/docs/<api>`: the OpenAPI document of that API as a page, with search and a page for each operation. */
import 'rapidoc';
import './docs.css';

const dark = matchMedia('(prefers-color-scheme: dark)').matches;
const reference = document.querySelector('rapi-doc');
reference?.setAttribute('theme', dark ? 'dark' : 'light');
reference?.setAttribute('spec-url', `/openapi/${location.pathname.split('/')[2]}.json`);
document.querySelector(`nav a[href="${location.pathname}"]`)?.setAttribute('aria-current', 'page');
