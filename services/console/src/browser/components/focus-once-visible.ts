/**
 * Focuses a field in the first frame in which it is seen, as parts of a page that is still read are hidden, unless
 * somebody types in another one by then. Is given to `ref`.
 */
export const focusOnceVisible = (field: HTMLInputElement): (() => void) => {
  let frame = 0;
  const look = (): void => {
    if (document.activeElement?.matches('input, select, textarea') === true) return;
    field.focus();
    frame = requestAnimationFrame(look);
  };
  look();
  return () => cancelAnimationFrame(frame);
};
