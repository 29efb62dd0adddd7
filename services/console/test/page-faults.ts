/**
 * Faults that any page may have: violations of accessibility rules, and sideways scrolling; and pictures
 * of pages for people to look at.
 */
import { join } from 'node:path';
import type { Page } from '@keelson/testkit/chromium';
import axe from 'axe-core';

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** The faults of the displayed page: violations, and whether it scrolls sideways. */
const faultsOf = async (page: Page): Promise<readonly string[]> => {
  // Evaluated instead of added as a script, which the page's content security policy would refuse.
  await page.evaluate(axe.source);
  const found = await page.evaluate<Violation[]>(
    'axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations)',
  );
  const overhang = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
  return [
    ...found.map(({ id, nodes }) => `${id}: ${nodes[0]?.html} ${nodes[0]?.failureSummary}`),
    ...(overhang > 0 ? [`overhangs by ${overhang} pixels`] : []),
  ];
};

/** Screenshots for manual review; not part of the repository. */
export const PICTURES = join(import.meta.dirname, '..', 'test-pictures');

const DESKTOP = { width: 1280, height: 800 };
const TELEPHONE = { width: 360, height: 740 };

const VARIANTS = [
  { name: 'desktop-light', viewport: DESKTOP, colorScheme: 'light', isKept: true },
  { name: 'desktop-dark', viewport: DESKTOP, colorScheme: 'dark', isKept: false },
  { name: 'telephone-light', viewport: TELEPHONE, colorScheme: 'light', isKept: false },
  { name: 'telephone-dark', viewport: TELEPHONE, colorScheme: 'dark', isKept: true },
] as const;

/**
 * The faults of the displayed page on a desktop and a telephone, light and dark. Keeps a picture of two of
 * the four, and leaves the page as on a light desktop.
 * @param name of the pictures; without it none are taken, and only two variants are checked, which differ in both
 *   size and colors
 * @returns faults by variant; variants without faults are left out
 */
export const faultsInVariants = async (
  page: Page,
  name?: string,
): Promise<Readonly<Record<string, readonly string[]>>> => {
  const faulty: Record<string, readonly string[]> = {};
  for (const { name: variant, viewport, colorScheme, isKept } of VARIANTS) {
    if (name === undefined && !isKept) continue;
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize(viewport);
    const faults = await faultsOf(page);
    if (faults.length > 0) faulty[variant] = faults;
    if (name === undefined || !isKept) continue;
    const path = join(PICTURES, `${name.replaceAll(' ', '-')}-${variant}.png`);
    await page.screenshot({ path, fullPage: true });
  }
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize(DESKTOP);
  return faulty;
};
