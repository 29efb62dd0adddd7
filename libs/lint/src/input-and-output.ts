/** Names by which a file reaches the network, other processes or the disk, other than to read it. */
import { parseSync } from 'oxc-parser';

const MODULES =
  /^(?:node:(?:child_process|cluster|dgram|dns|http|http2|https|net|tls|worker_threads)(?:\/promises)?|undici|pg|ioredis)$/;
const FILES = /^node:fs(?:\/promises)?$/;
const READING =
  /^(?:access|close|constants|exists|glob|lstat|open|opendir|read|readdir|readFile|readlink|realpath|stat)(?:Sync)?$/;
const SERVERS = /^@keelson\/testkit(?:\/|$)/;
const STARTING = /^(?:build|start)[A-Z]|Directory$|^cutPower$/;

/** @returns each name with its module, as in `node:fs writeFileSync` */
export const inputAndOutputOf = (file: string, text: string): readonly string[] =>
  parseSync(file, text).module.staticImports.flatMap(({ moduleRequest: { value }, entries }) =>
    entries
      .filter((entry) => {
        const name = entry.importName.name ?? '';
        if (entry.isType) return false;
        if (FILES.test(value)) return !READING.test(name);
        return SERVERS.test(value) ? STARTING.test(name) : MODULES.test(value);
      })
      .map((entry) => `${value} ${entry.importName.name ?? entry.localName.value}`),
  );
