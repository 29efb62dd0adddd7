/** Ids of orders begin with the creation time, so that their records are sorted by it. */

/** 12 hexadecimal digits of time, 20 of randomness. */
export const newOrderId = (nowMs: number, random: Uint8Array): string =>
  nowMs.toString(16).padStart(12, '0') + Buffer.from(random).toString('hex').slice(0, 20);

/** An id that sorts before every order made at this time or later. */
export const firstOrderIdOf = (nowMs: number): string => newOrderId(nowMs, new Uint8Array(10));

export const isOrderId = (text: string): boolean => /^[0-9a-f]{32}$/.test(text);
