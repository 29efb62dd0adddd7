/** Pages of Keelson for the browser of a login, which are whole: they load nothing and run nothing. */

/** No other page may show them, and their form goes to Keelson alone. */
export const PAGE_HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
} as const;

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escapeText = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? '');

const page = (title: string, body: string): string =>
  `<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title></head>\n<body>\n<main>\n<h1>${title}</h1>\n${body}\n</main>\n</body>\n</html>\n`;

export const refusalPage = (text: string): string =>
  page('You are not signed in', `<p>${escapeText(text)}.</p>`);

export const SUCCESS_PAGE = page(
  'You are signed in',
  '<p>You may close this page and go back to the program that asked you to sign in.</p>',
);

/**
 * Asks if the user has begun the login, which a stranger may have sent as a link.
 * @param fields that the form repeats
 */
export const confirmationPage = (
  { role, remoteAddress }: { readonly role: string; readonly remoteAddress: string },
  fields: Readonly<Record<string, string>>,
): string =>
  page(
    'Do you want to sign in?',
    `<p>A program at the address ${escapeText(remoteAddress)} has asked to sign in with the role ${escapeText(role)}. Go on only if you have started it yourself; otherwise close this page.</p>
<form method="post">
${Object.entries(fields)
  .map(([name, value]) => `<input type="hidden" name="${name}" value="${escapeText(value)}">`)
  .join('\n')}
<button type="submit">Sign in</button>
</form>`,
  );
