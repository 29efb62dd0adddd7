/** One table for the reader, one JSON file for comparing runs. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import type { Bench, Figure } from './bench.ts';

const COLUMNS = [
  'figure',
  'value',
  'limit',
  'ratio',
  'CPU/op',
  'peak memory',
  'p50',
  'p99',
  'p99.9',
];

const number = (value: number): string =>
  value.toLocaleString('en', { maximumSignificantDigits: value >= 1000 ? 6 : 3 });

const toRow = (figure: Figure): readonly string[] => {
  const { limit, latencyMilliseconds: latency } = figure;
  const milliseconds = (value: number | undefined): string =>
    value === undefined ? '' : `${number(value)} ms`;
  return [
    figure.name,
    `${number(figure.value)} ${figure.unit}`,
    limit ? `${number(limit.value)} (${limit.name})` : '',
    limit ? number(figure.value / limit.value) : '',
    figure.cpuMicrosecondsPerOperation === undefined
      ? ''
      : `${number(figure.cpuMicrosecondsPerOperation)} µs`,
    figure.peakMemoryMegabytes === undefined ? '' : `${number(figure.peakMemoryMegabytes)} MB`,
    milliseconds(latency?.p50),
    milliseconds(latency?.p99),
    milliseconds(latency?.p999),
  ];
};

export const toTable = (figures: readonly Figure[]): string => {
  const rows = [COLUMNS, ...figures.map(toRow)];
  const widths = COLUMNS.map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
};

/** @returns the file */
export const writeResults = (folder: string, bench: Bench, figures: readonly Figure[]): string => {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${bench.name}.json`);
  const { name, claim, method } = bench;
  const machine = { node: process.version, cpu: cpus()[0]?.model, cores: cpus().length };
  const at = new Date().toISOString();
  writeFileSync(
    file,
    `${JSON.stringify({ name, claim, method, at, machine, figures }, null, 2)}\n`,
  );
  return file;
};
