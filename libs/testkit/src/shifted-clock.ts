/**
 * Environment of a Node.js process that sees another time of day, like a machine whose clock is wrong. Timers
 * are not affected.
 * @param byMs offset from the real clock; negative: behind
 */
export const shiftedClock = (byMs: number): Readonly<Record<string, string>> => {
  const code = `const now = Date.now; const Real = Date; globalThis.Date = class extends Real {
    constructor(...given) { if (given.length === 0) super(now() + ${byMs}); else super(...given); }
    static now() { return now() + ${byMs}; } };`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` };
};
