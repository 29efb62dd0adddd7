/** The composed document as an HTML page. */
import { escapeHtml } from '../pages/html-page.ts';
import type { OpenApiDocument } from './composed-openapi.ts';

interface Operation {
  readonly tags?: readonly string[];
  readonly summary?: string;
  readonly description?: string;
  readonly [key: string]: unknown;
}

const operationHtml = (path: string, method: string, operation: Operation): string => {
  const { tags: _tags, summary, description, ...rest } = operation;
  const verb = method === 'x-list' ? 'LIST' : method.toUpperCase();
  return `<details><summary><span class="m">${escapeHtml(verb)}</span> <code>${escapeHtml(path)}</code> ${escapeHtml(summary)}</summary>
<p>${escapeHtml(description)}</p><pre>${escapeHtml(JSON.stringify(rest, null, 2))}</pre></details>`;
};

/** HTML, without the heading. */
export const renderOpenApi = (document: OpenApiDocument): string => {
  const groups = new Map<string, string[]>();
  for (const [path, operations] of Object.entries(document.paths))
    for (const [method, operation] of Object.entries(operations as Record<string, Operation>)) {
      const tag = operation.tags?.[0] ?? 'other';
      groups.set(tag, [...(groups.get(tag) ?? []), operationHtml(path, method, operation)]);
    }
  const sections = [...groups].map(
    ([tag, operations]) => `<h2>${escapeHtml(tag)}</h2>\n${operations.join('\n')}`,
  );
  return `<p>${escapeHtml(document.info['description'])} The same as JSON: <a href="/openapi.json">/openapi.json</a>.</p>
${sections.join('\n')}`;
};
