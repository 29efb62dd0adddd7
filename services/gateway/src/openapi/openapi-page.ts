/** An OpenAPI document as HTML. */
import type { OpenApiDocument } from '@keelson/edge';
import { escapeHtml } from '../pages/html-page.ts';

interface Operation {
  readonly tags?: readonly string[];
  readonly summary?: string;
  readonly description?: string;
  readonly [key: string]: unknown;
}

const operationHtml = (path: string, method: string, operation: Operation): string => {
  const { tags: _tags, summary, description, ...rest } = operation;
  return `<details><summary><span class="m">${escapeHtml(method.toUpperCase())}</span> <code>${escapeHtml(path)}</code> ${escapeHtml(summary)}</summary>
<p>${escapeHtml(description)}</p><pre>${escapeHtml(JSON.stringify(rest, null, 2))}</pre></details>`;
};

/** @param address of the document as JSON */
export const renderOpenApi = (address: string, document: OpenApiDocument): string => {
  const groups = new Map<string, string[]>();
  const prefix = document.servers[0]?.url ?? '';
  for (const [path, operations] of Object.entries(document.paths))
    for (const [method, operation] of Object.entries<Operation>(operations)) {
      const tag = operation.tags?.[0] ?? 'other';
      const html = operationHtml(prefix + path, method, operation);
      groups.set(tag, [...(groups.get(tag) ?? []), html]);
    }
  const sections = [...groups].map(
    ([tag, operations]) => `<h3>${escapeHtml(tag)}</h3>\n${operations.join('\n')}`,
  );
  return `<h2>${escapeHtml(document.info['title'])}</h2>
<p>${escapeHtml(document.info['description'])} As JSON: <a href="${escapeHtml(address)}">${escapeHtml(address)}</a>.</p>
${sections.join('\n')}`;
};
