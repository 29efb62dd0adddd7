/** The widths and themes in which a page is looked at. */

const THEMES = ['light', 'dark'] as const;

export type Theme = (typeof THEMES)[number];

export interface Look {
  readonly width: number;
  readonly theme: Theme;
}

/** The widths and themes in which pictures are taken. */
export const LOOKS: readonly Look[] = [1280, 768, 360].flatMap((width) =>
  THEMES.map((theme) => ({ width, theme })),
);
