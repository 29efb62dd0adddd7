/** The steps of a change of several things: they are read again, judged, and changed one after the other. */
import { useEffect, useRef, useState } from 'react';
import { warn } from '../api/notices.ts';
import { useAction } from '../api/queries.ts';
import { isSameSession, readSession } from '../api/session.ts';
import type { Fields } from '../components/action-button.tsx';
import { type Bulk, countedOutcomes, type Line, namesLeft } from './bulk.ts';
import { eachInTurn, type Outcome } from './each-in-turn.ts';

type Newest<Thing> = ReadonlyMap<string, Thing | Error>;

/** The things as they are stored now, or why one cannot be read; undefined until all were read. */
const useNewest = <Thing>(
  bulk: Bulk<Thing>,
  things: readonly Thing[],
): Newest<Thing> | undefined => {
  const [newest, setNewest] = useState<Newest<Thing>>();
  // The things are those of the moment in which the dialog was opened.
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const read = new Map<string, Thing | Error>();
    const readAll = async (): Promise<void> => {
      await eachInTurn(
        things,
        async (thing) => read.set(bulk.idOf(thing), await bulk.read(thing, signal)),
        signal,
        (thing, outcome) => {
          if (outcome.kind === 'failed') read.set(bulk.idOf(thing), new Error(outcome.text));
        },
      );
      if (!signal.aborted) setNewest(read);
    };
    void readAll();
    return () => controller.abort();
  }, []);
  return newest;
};

export interface BulkSteps<Thing> {
  /** Whether everything was read, so that the verdicts are those of now. */
  readonly isRead: boolean;
  readonly lines: readonly Line<Thing>[];
  readonly isWorking: boolean;
  /** Whether the changes have been attempted. */
  readonly isOver: boolean;
  readonly start: () => void;
  /** Stops after the change that is under way. */
  readonly stop: () => void;
}

/**
 * @param things those that were selected when the dialog was opened
 * @param onEnd called with the things that were to be changed and were not
 */
export const useBulk = <Thing>(
  bulk: Bulk<Thing>,
  things: readonly Thing[],
  fields: Fields,
  onEnd: (left: readonly Thing[]) => void,
): BulkSteps<Thing> => {
  const newest = useNewest(bulk, things);
  const [outcomes, setOutcomes] = useState<ReadonlyMap<string, Outcome>>(new Map());
  const stopping = useRef(new AbortController());
  // Whoever leaves the page sees no more what is done.
  useEffect(() => () => stopping.current.abort(), []);
  const lines = things.map((listed): Line<Thing> => {
    const id = bulk.idOf(listed);
    const thing = newest?.get(id) ?? listed;
    return thing instanceof Error
      ? { thing: listed, verdict: { kind: 'refused', words: thing.message }, outcome: undefined }
      : { thing, verdict: bulk.judge(thing, fields), outcome: outcomes.get(id) };
  });
  const changing = useAction(async () => {
    const session = readSession();
    const wanted = lines
      .filter(({ verdict }) => verdict.kind === 'changes')
      .map(({ thing }) => thing);
    const known = new Map<string, Outcome>();
    await eachInTurn(
      wanted,
      (thing) => bulk.change(thing, fields),
      stopping.current.signal,
      (thing, outcome) => {
        known.set(bulk.idOf(thing), outcome);
        setOutcomes(new Map(known));
      },
    );
    const left = wanted.filter((thing) => known.get(bulk.idOf(thing))?.kind !== 'done');
    // The dialog is gone with its page once the session has ended.
    if (!isSameSession(readSession(), session) || stopping.current.signal.aborted)
      warn([
        `${bulk.label}: ${countedOutcomes(known.values())}.${namesLeft(left.map(bulk.nameOf))}`,
      ]);
    onEnd(left);
  });
  return {
    isRead: newest !== undefined,
    lines,
    isWorking: changing.isPending,
    isOver: outcomes.size > 0 && !changing.isPending,
    start: () => changing.run(),
    stop: () => stopping.current.abort(),
  };
};
