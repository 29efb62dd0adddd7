/** Measures shared by all drawings: their width, and their column of names. */
import { type RefCallback, useEffect, useState } from 'react';

/** Width in which a drawing is made before it is measured. */
const ASSUMED_WIDTH = 780;

/**
 * The width of a drawing in pixels, so that its texts have the size of the page's on every screen.
 * @returns the reference for the drawing's element, and its current width
 */
export const useWidth = (): readonly [RefCallback<SVGSVGElement>, number] => {
  const [element, setElement] = useState<SVGSVGElement | null>(null);
  const [width, setWidth] = useState(ASSUMED_WIDTH);
  useEffect(() => {
    if (element === null) return undefined;
    const observer = new ResizeObserver(([entry]) => {
      if (entry !== undefined && entry.contentRect.width > 0)
        setWidth(Math.round(entry.contentRect.width));
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [element]);
  return [setElement, width];
};

/** Width of the column of names at the left of a drawing of the given width. */
export const columnOf = (width: number): number => Math.min(230, width * 0.38);

const PIXELS_PER_LETTER = 8;

/** A name that fits into so many pixels. */
export const shortened = (text: string, pixels: number): string => {
  const most = Math.max(4, Math.floor(pixels / PIXELS_PER_LETTER));
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
};
