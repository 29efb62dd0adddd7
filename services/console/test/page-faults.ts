/**
 * Faults that any page may have: violations of accessibility rules, sideways scrolling, and cards that are narrower than
 * their content; and pictures of pages for people to look at.
 */
import { join } from 'node:path';
import type { Page } from '@keelson/testkit/chromium';
import axe from 'axe-core';

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** The headings of cards out of which something sticks. */
const NARROW_CARDS = `[...document.querySelectorAll('.card')]
  .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
  .map((card) => card.querySelector('h1, h2, h3')?.textContent ?? card.textContent.slice(0, 40))`;

/** Whether the displayed page scrolls sideways, and cards that are narrower than their content. */
export const sidewaysFaults = async (page: Page): Promise<readonly string[]> => {
  const overhang = await page.evaluate<number>(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  );
  const narrow = await page.evaluate<readonly string[]>(NARROW_CARDS);
  return [
    ...(overhang > 0 ? [`overhangs by ${overhang} pixels`] : []),
    ...narrow.map((heading) => `the card "${heading}" is narrower than its content`),
  ];
};

/**
 * The faults of the displayed page: violations, whether it scrolls sideways, and cards that are too narrow.
 * @param rules of axe; without them all
 */
const faultsOf = async (page: Page, rules?: readonly string[]): Promise<readonly string[]> => {
  // Evaluated instead of added as a script, which the page's content security policy would refuse, and once for a
  // loaded page, because it takes as long as a check.
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(axe.source);
  const options = { resultTypes: ['violations'], ...(rules && { runOnly: rules }) };
  const found = await page.evaluate<Violation[]>(
    `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => violations)`,
  );
  return [
    ...found.map(({ id, nodes }) => `${id}: ${nodes[0]?.html} ${nodes[0]?.failureSummary}`),
    ...(await sidewaysFaults(page)),
  ];
};

/** Screenshots for manual review; not part of the repository. */
export const PICTURES = join(import.meta.dirname, '..', 'test-pictures');

const DESKTOP = { width: 1280, height: 800 };
const TELEPHONE = { width: 360, height: 740 };

/** Rules of axe whose result depends on colors. */
const COLOR_RULES = ['color-contrast', 'link-in-text-block'];

/** How each page is shown to axe. A variant that differs from another one only in colors is checked by its `rules` alone. */
const VARIANTS = [
  { name: 'desktop-light', viewport: DESKTOP, colorScheme: 'light' },
  { name: 'desktop-dark', viewport: DESKTOP, colorScheme: 'dark', rules: COLOR_RULES },
  { name: 'telephone-light', viewport: TELEPHONE, colorScheme: 'light', rules: COLOR_RULES },
  { name: 'telephone-dark', viewport: TELEPHONE, colorScheme: 'dark' },
] as const;

/**
 * The faults of the displayed page on a desktop and a telephone, light and dark. Leaves the page as on a light desktop.
 * With KEEP_PICTURES=yes, pictures of a light desktop and a dark telephone are kept.
 * @param name of the pictures; without it none are taken, and only these two variants are checked, which differ in both
 *   size and colors
 * @returns faults by variant; variants without faults are left out
 */
export const faultsInVariants = async (
  page: Page,
  name?: string,
): Promise<Readonly<Record<string, readonly string[]>>> => {
  const faulty: Record<string, readonly string[]> = {};
  for (const variant of VARIANTS) {
    const rules = 'rules' in variant ? variant.rules : undefined;
    if (name === undefined && rules !== undefined) continue;
    const { colorScheme, viewport } = variant;
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize(viewport);
    const faults = await faultsOf(page, rules);
    if (faults.length > 0) faulty[variant.name] = faults;
    if (name === undefined || rules !== undefined || process.env['KEEP_PICTURES'] !== 'yes')
      continue;
    const path = join(PICTURES, `${name.replaceAll(' ', '-')}-${variant.name}.png`);
    await page.screenshot({ path, fullPage: true });
  }
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize(DESKTOP);
  return faulty;
};
