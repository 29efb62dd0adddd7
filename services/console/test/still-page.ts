/**
 * Pages that look the same in every run: their clock stands, and texts that differ by chance have one form. Everything
 * else of a page is as an installation shows it.
 */
import type { Page } from '@keelson/testkit/chromium';
import type { Look } from './looks.ts';

/** Height of the part of a page that a picture shows, in pixels. */
const HEIGHT = 800;

/** The time of the control plane when it starts. */
export const STARTED_AT = '2027-03-01T09:00:00Z';

/** The time of the pages: an hour after whatever was made, however long that took. */
const NOW = '2027-03-01T10:20:00Z';

const OCTETS = (count: number): string => Array<string>(count).fill('4a').join(':');

/** Texts that differ by chance, with what a picture has in their place. A later pattern finds what earlier ones have left. */
const RULES: readonly (readonly [RegExp, string])[] = [
  // Folders, whose names may look like ids and key material.
  [/\/tmp\/[\w/-]+(?=\/)/g, '/var/lib/keelson'],
  [/(-----BEGIN [A-Z ]+-----)[^-]+(-----END [A-Z ]+-----)/g, `$1\n${'A'.repeat(64)}\n$2`],
  // Fingerprints, then serial numbers and identifiers of keys.
  [/\b[0-9a-f]{2}(?::[0-9a-f]{2}){31}\b/gi, OCTETS(32)],
  [/\b[0-9a-f]{2}(?::[0-9a-f]{2}){7,30}\b/gi, OCTETS(20)],
  [/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, '4a4a4a4a-4a4a-4a4a-4a4a-4a4a4a4a4a4a'],
  [/\b[0-9a-f]{32,}\b/g, '4a'.repeat(20)],
  // Ids of `/api/v2`, accessors, and key material.
  [/\b([a-z]+-)(?=[A-Za-z]*\d|[a-z]*[A-Z])[A-Za-z0-9]{16}\b/g, '$1AAAAAAAAAAAAAAAA'],
  [/\b[A-Za-z0-9]{24}(?:\.[A-Za-z0-9]{5})?\b/g, 'A'.repeat(24)],
  [/\b(?=[A-Za-z]*\d)(?=[a-z0-9]*[A-Z])[A-Za-z0-9+/_-]{20,}=*/g, 'A'.repeat(24)],
  [/\b(127\.0\.0\.1|localhost):\d+/g, '$1:8200'],
  [/(?<![\d.])\d+\.\d+\.\d+(?:-[\w.]+)?\b(?![.\d])/g, '1.2.3'],
  // Moments to the minute or second, and durations.
  [/(?<![\d:])\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?=\b|Z)/g, '9:00'],
  [/\b\d+ min(?: \d+ s)?\b/g, '5 min'],
  [/\b\d+(?:[.,]\d+)? (ms|s|minutes?|seconds?)\b/g, '5 $1'],
];

/** Facts that differ by chance as a whole: how many records the cluster has written. */
const FACTS: readonly string[] = ['Position'];

/** The text as a picture has it. */
export const stillText = (text: string): string =>
  RULES.reduce((found, [pattern, still]) => found.replace(pattern, still), text);

/** Changes texts before they are drawn. The editor of policies has none that differ, and would take it for typing. */
const SCRIPT = `{
  const rules = [${RULES.map(([pattern, still]) => `[${String(pattern)}, ${JSON.stringify(still)}]`).join(', ')}];
  const still = (text) => rules.reduce((found, [pattern, by]) => found.replace(pattern, by), text);
  const LEFT_ALONE = 'script, style, .cm-editor';
  const keep = (node) => {
    if (node.parentElement === null || node.parentElement.closest(LEFT_ALONE) !== null) return;
    const fact = node.parentElement.closest('dd')?.previousElementSibling?.textContent;
    const text = ${JSON.stringify(FACTS)}.includes(fact) ? '100' : still(node.data);
    if (text !== node.data) node.data = text;
  };
  const keepAll = (node) => {
    if (node.nodeType === Node.TEXT_NODE) return keep(node);
    const texts = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) keep(texts.currentNode);
  };
  new MutationObserver((records) => {
    for (const { type, target, addedNodes } of records) {
      if (type === 'characterData') keep(target);
      for (const node of addedNodes) keepAll(node);
    }
  }).observe(document, { subtree: true, childList: true, characterData: true });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync('* { animation: none !important; transition: none !important; caret-color: transparent !important }');
  document.adoptedStyleSheets = [sheet];
  globalThis.keepFields = () => {
    for (const field of document.querySelectorAll('input, textarea')) {
      const text = still(field.value);
      if (field.type !== 'file' && text !== field.value) field.value = text;
    }
  };
}`;

/** Lets a page that is loaded afterwards look the same in every run. */
export const holdStill = async (page: Page): Promise<void> => {
  await page.clock.setFixedTime(NOW);
  await page.addInitScript({ content: SCRIPT });
  const browser = await page.context().newCDPSession(page);
  await browser.send('Emulation.setTimezoneOverride', { timezoneId: 'UTC' });
  await page.emulateMedia({ reducedMotion: 'reduce' });
};

/**
 * Takes a picture of the page in one width and theme.
 * @returns a PNG file
 */
export const pictureOf = async (page: Page, { width, theme }: Look): Promise<Buffer> => {
  await page.setViewportSize({ width, height: HEIGHT });
  await page.emulateMedia({ colorScheme: theme });
  // A chart, and all else that follows the width, is drawn in the next frame.
  await page.evaluate(
    'new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(drawn))))',
  );
  await page.evaluate('document.fonts.ready.then(() => keepFields())');
  const browser = await page.context().newCDPSession(page);
  // Playwright's own pictures take twice the CPU.
  const { data } = await browser.send('Page.captureScreenshot', {
    format: 'png',
    optimizeForSpeed: true,
  });
  await browser.detach();
  return Buffer.from(data, 'base64');
};
