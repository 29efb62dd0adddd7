/** The composed document as a page to read: plain HTML without scripts, so that it needs nothing else. */
import type { OpenApiDocument } from './composed-openapi.ts';

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};
const escape = (value: unknown): string =>
  (typeof value === 'string' ? value : '').replaceAll(/[&<>"]/g, (mark) => ESCAPES[mark] ?? mark);

interface Operation {
  readonly tags?: readonly string[];
  readonly summary?: string;
  readonly description?: string;
  readonly [key: string]: unknown;
}

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#1b1f24;background:#fff}
summary{cursor:pointer;padding:.35rem 0}code{font:14px ui-monospace,monospace}pre{overflow:auto;background:#f4f5f7;padding:1rem}
.m{display:inline-block;min-width:4.5rem;font-weight:600}h2{border-bottom:1px solid #d0d5db;margin-top:2.5rem}
@media(prefers-color-scheme:dark){body{background:#15181c;color:#e6e8eb}pre{background:#22272e}}`;

const operationHtml = (path: string, method: string, operation: Operation): string => {
  const { tags: _tags, summary, description, ...rest } = operation;
  const verb = method === 'x-list' ? 'LIST' : method.toUpperCase();
  return `<details><summary><span class="m">${escape(verb)}</span> <code>${escape(path)}</code> ${escape(summary)}</summary>
<p>${escape(description)}</p><pre>${escape(JSON.stringify(rest, null, 2))}</pre></details>`;
};

export const renderOpenApiPage = (document: OpenApiDocument): string => {
  const groups = new Map<string, string[]>();
  for (const [path, operations] of Object.entries(document.paths))
    for (const [method, operation] of Object.entries(operations as Record<string, Operation>)) {
      const tag = operation.tags?.[0] ?? 'other';
      groups.set(tag, [...(groups.get(tag) ?? []), operationHtml(path, method, operation)]);
    }
  const sections = [...groups].map(
    ([tag, operations]) => `<h2>${escape(tag)}</h2>\n${operations.join('\n')}`,
  );
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Keelson API</title><style>${STYLE}</style><h1>Keelson API</h1>
<p>${escape(document.info['description'])} The same as JSON: <a href="/openapi.json">/openapi.json</a>.</p>
${sections.join('\n')}</html>`;
};
