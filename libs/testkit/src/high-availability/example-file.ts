import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const EXAMPLES = new URL('../../../../deploy/high-availability/', import.meta.url);

/**
 * Writes a file of deploy/high-availability into `folder`, with what differs on this machine.
 * @param changes texts of the file, each once, and their replacements
 * @returns its path
 */
export const writeExample = async (
  folder: string,
  name: string,
  changes: Readonly<Record<string, string>>,
): Promise<string> => {
  let text = await readFile(new URL(name, EXAMPLES), 'utf8');
  for (const [from, to] of Object.entries(changes)) {
    if (text.split(from).length !== 2) throw new Error(`${name} does not have "${from}" once`);
    text = text.replace(from, () => to);
  }
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
};
