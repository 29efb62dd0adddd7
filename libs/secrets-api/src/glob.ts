/** `*` matches any text, dots, slashes and line breaks included; everything else matches itself. */
export const matchesGlob = (pattern: string, text: string): boolean => {
  const [head = '', ...parts] = pattern.split('*');
  const tail = parts.pop();
  if (tail === undefined) return pattern === text;
  if (!text.startsWith(head)) return false;
  // Taking the earliest place for each part leaves the most room for those that follow.
  let at = head.length;
  for (const part of parts) {
    const found = text.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return text.length - tail.length >= at && text.endsWith(tail);
};
