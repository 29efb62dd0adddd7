/**
 * `/docs/<api>`: the OpenAPI document of that API as a page, with search, and a view for each capability and each
 * operation.
 */
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Problem } from '../components/page.tsx';
import { applyTheme } from '../look/theme.ts';
import '../look/tokens.css';
import '../look/reset.css';
import type { ApiDescription } from './api-description.ts';
import { Reference } from './reference.tsx';

applyTheme();
const place = document.getElementById('reference');
if (place !== null) {
  const root = createRoot(place);
  const name = location.pathname.split('/')[2] ?? '';
  try {
    const answer = await fetch(`/openapi/${name}.json`);
    if (!answer.ok) throw new Error(`/openapi/${name}.json answers ${answer.status}`);
    const api = (await answer.json()) as ApiDescription;
    root.render(
      <StrictMode>
        <Reference name={name} api={api} />
      </StrictMode>,
    );
  } catch (error) {
    root.render(<Problem>The description of this API cannot be loaded: {String(error)}</Problem>);
  }
}
