/** Lines per block. A log is split into blocks so that a long one is rendered block by block. */

const BLOCK_LINES = 400;

const countLines = (text: string): number => text.split('\n').length - 1;

/** Appends text to the last block, and begins new ones when it is full. */
export const appended = (blocks: readonly string[], text: string): readonly string[] => {
  const next = blocks.slice(0, -1);
  let block = blocks.at(-1) ?? '';
  let room = BLOCK_LINES - countLines(block);
  for (const line of text.split(/(?<=\n)/)) {
    if (room <= 0) {
      next.push(block);
      block = '';
      room = BLOCK_LINES;
    }
    block += line;
    room -= 1;
  }
  next.push(block);
  return next;
};
