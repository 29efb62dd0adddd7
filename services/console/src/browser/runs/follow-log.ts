/**
 * Follows the growing log of a plan or apply: reads what is there at once, and then what is added,
 * through the live channel or by polling each second without it.
 */
import { useEffect, useRef, useState } from 'react';
import { request } from '../api/api-problem.ts';
import { isReported, type Watch, watch } from '../api/live-channel.ts';
import { appended } from './log-blocks.ts';

/** The server's limit. */
const PIECE_BYTES = 1024 * 1024;
const EVERY_MS = 1_000;
/** The first and the last byte of a whole log. */
const START = '\u0002';
const END = '\u0003';
/** Escape sequences that colour a tool's output. */
const COLOURS = /(?![\n\r\t])\p{Cc}\[[0-9;]*[A-Za-z]/gu;

export interface FollowedLog {
  readonly blocks: readonly string[];
  readonly isWhole: boolean;
}

const EMPTY: FollowedLog = { blocks: [], isWhole: false };

/**
 * Replaces the URL's origin by this page's, because the document names the address known to API
 * clients.
 */
const onThisOrigin = (url: string): string => {
  const { pathname, search } = new URL(url, location.origin);
  return `${pathname}${search}`;
};

/** @param url current signed URL in the phase's document; undefined if there is no log yet */
export const useFollowedLog = (phaseId: string, url: string | undefined): FollowedLog => {
  const [log, setLog] = useState<FollowedLog>(EMPTY);
  // Later documents have newer signatures for the same log.
  const address = useRef(url);
  address.current = url;
  const hasLog = url !== undefined;
  useEffect(() => {
    if (!hasLog) return undefined;
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const decoder = new TextDecoder();
    let offset = 0;
    let blocks: readonly string[] = [];
    let isWhole = false;
    let endWatch: (() => void) | undefined;
    const take = (bytes: Uint8Array): void => {
      offset += bytes.length;
      const text = decoder.decode(bytes, { stream: true });
      isWhole = text.endsWith(END);
      const plain = text.replace(START, '').replace(END, '').replaceAll(COLOURS, '');
      if (plain !== '') blocks = appended(blocks, plain);
      if (text !== '') setLog({ blocks, isWhole });
      if (isWhole) endWatch?.();
    };
    const watched: Watch = {
      address: () => `${onThisOrigin(address.current ?? '')}?offset=${offset}`,
      onLog: (at, bytes) => {
        // A poll may have delivered some of the bytes already.
        if (at <= offset) take(bytes.subarray(offset - at));
      },
    };
    const readPiece = async (): Promise<void> => {
      let wasFull = false;
      try {
        // The channel continues where the last poll ended.
        if (isReported(watched)) return;
        const base = onThisOrigin(address.current ?? '');
        const begin = offset;
        const answer = await request(`${base}?limit=${PIECE_BYTES}&offset=${offset}`, {
          signal: abort.signal,
        });
        const bytes = answer.ok ? new Uint8Array(await answer.arrayBuffer()) : new Uint8Array();
        wasFull = bytes.length === PIECE_BYTES;
        // The channel may have delivered some of the bytes meanwhile.
        if (begin === offset) take(bytes);
        // Not before the end is reached, because a piece arrives faster than an event.
        if (answer.ok && !wasFull && !isWhole && !abort.signal.aborted) endWatch ??= watch(watched);
      } catch {
        // Retried below; the reader keeps the text received so far.
      } finally {
        if (!isWhole && !abort.signal.aborted)
          timer = setTimeout(() => void readPiece(), wasFull ? 0 : EVERY_MS);
      }
    };
    setLog(EMPTY);
    void readPiece();
    return () => {
      abort.abort();
      endWatch?.();
      clearTimeout(timer);
    };
  }, [phaseId, hasLog]);
  return log;
};
