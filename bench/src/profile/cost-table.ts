/** The cost of an operation as text: a line for each capability, a column for each number of connections. */
import type { OperationCost } from './profile.ts';

const SMALLEST_MICROSECONDS = 0.5;

const sumOf = ({ capabilities }: OperationCost): number =>
  [...capabilities.values()].reduce((sum, time) => sum + time, 0);

/** Functions that are listed: they have about half of the time. */
const LISTED_FUNCTIONS = 40;

type Row = readonly [name: string, ...cells: string[]];

/** A line for each name, the most expensive first, without what takes next to nothing. */
const linesOf = (columns: readonly ReadonlyMap<string, number>[]): readonly Row[] => {
  const names = [...new Set(columns.flatMap((column) => [...column.keys()]))];
  const largest = (name: string): number =>
    Math.max(...columns.map((column) => column.get(name) ?? 0));
  return names
    .filter((name) => largest(name) >= SMALLEST_MICROSECONDS)
    .sort((a, b) => largest(b) - largest(a))
    .map((name) => [`  ${name}`, ...columns.map((column) => (column.get(name) ?? 0).toFixed(1))]);
};

export const toCostTable = (title: string, costs: readonly OperationCost[]): string => {
  const rows: readonly Row[] = [
    ['connections', ...costs.map(({ connections }) => String(connections))],
    ['operations per second', ...costs.map(({ perSecond }) => perSecond.toFixed(0))],
    ['µs of CPU per operation', ...costs.map((cost) => sumOf(cost).toFixed(0))],
    ...linesOf(costs.map(({ capabilities }) => capabilities)),
    ['µs of CPU in functions themselves', ...costs.map(() => '')],
    ...linesOf(costs.map(({ functions }) => functions)).slice(0, LISTED_FUNCTIONS),
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  const lines = rows.map(([name, ...cells]) =>
    `${name.padEnd(width)}${cells.map((cell) => cell.padStart(10)).join('')}`.trimEnd(),
  );
  return `${title}\n\n${lines.join('\n')}\n`;
};
