/** Static HTML pages, without scripts or other resources. */
import type { FastifyReply } from 'fastify';

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#1b1f24;background:#fff}
summary{cursor:pointer;padding:.35rem 0}code{font:14px ui-monospace,monospace}pre{overflow:auto;background:#f4f5f7;padding:1rem}
.m{display:inline-block;min-width:4.5rem;font-weight:600}h2{border-bottom:1px solid #d0d5db;margin-top:2.5rem}
@media(prefers-color-scheme:dark){body{background:#15181c;color:#e6e8eb}a{color:#8ab4f8}pre{background:#22272e}}`;

const HEADERS = {
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'",
  'x-content-type-options': 'nosniff',
} as const;

/** Text escaped for HTML; "" for a value that is not text. */
export const escapeHtml = (value: unknown): string =>
  (typeof value === 'string' ? value : '').replaceAll(/[&<>"]/g, (mark) => ESCAPES[mark] ?? mark);

/** @param body HTML below the heading */
export const sendPage = (reply: FastifyReply, title: string, body: string): FastifyReply =>
  reply
    .type('text/html; charset=utf-8')
    .headers(HEADERS)
    .send(
      `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)}</title><style>${STYLE}</style><h1>${escapeHtml(title)}</h1>
${body}</html>`,
    );
