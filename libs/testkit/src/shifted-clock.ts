/**
 * Environment of a Node process that sees another time of day, as a machine whose clock is wrong does.
 * Timers run as ever.
 * @param byMs ahead of the real clock; negative: behind
 */
export const shiftedClock = (byMs: number): Readonly<Record<string, string>> => {
  const code = `const now = Date.now; const Real = Date; globalThis.Date = class extends Real {
    constructor(...given) { if (given.length === 0) super(now() + ${byMs}); else super(...given); }
    static now() { return now() + ${byMs}; } };`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` };
};
