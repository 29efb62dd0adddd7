/** `*` matches any text, dots and slashes included; everything else matches itself. */
export const matchesGlob = (pattern: string, text: string): boolean => {
  const [head = '', ...rest] = pattern.split('*');
  if (rest.length === 0) return pattern === text;
  const tail = rest.pop() ?? '';
  if (!text.startsWith(head) || !text.endsWith(tail)) return false;
  if (text.length < head.length + tail.length) return false;
  // Taking the earliest place for each part leaves the most room for those that follow.
  let at = head.length;
  const end = text.length - tail.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found < 0 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
};
