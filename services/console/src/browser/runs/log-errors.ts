/** The errors that a tool has written into its log. */

/** Errors shown; the log has all of them. */
const MOST = 5;

/** The text of a box that the tool draws around a message. */
const BOX = /╷\n((?:│.*\n?)+)╵?/g;
const withoutBorder = (box: string): string => box.replaceAll(/^│ ?/gm, '').trim();

/** Each error with what the tool says about it: the resource, the file and the line. */
export const errorsIn = (log: string): readonly string[] => {
  const boxed = [...log.matchAll(BOX)].map(([, box = '']) => withoutBorder(box));
  const errors = boxed.filter((text) => /^Error:/m.test(text));
  if (errors.length > 0) return errors.slice(0, MOST);
  return [...log.matchAll(/^Error:.*(?:\n(?!\n|Error:).*)*/gm)]
    .map(([text]) => text.trim())
    .slice(0, MOST);
};
