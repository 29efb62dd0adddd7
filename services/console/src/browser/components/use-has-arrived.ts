import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { LATEST_MS } from './skeleton.tsx';

/** Frames without a first read, since what is read may lead to the next one. */
const QUIET_FRAMES = 3;

/** Whether what a page reads first is there, so that all of it can be shown where it stays. */
export const useHasArrived = (): boolean => {
  const client = useQueryClient();
  const [hasArrived, setArrived] = useState(false);
  useEffect(() => {
    const isReading = (): boolean =>
      client.isFetching({ type: 'active', predicate: ({ state }) => state.status === 'pending' }) >
      0;
    const arrive = (): void => setArrived(true);
    if (!isReading()) {
      arrive();
      return undefined;
    }
    let quiet = 0;
    let frame = 0;
    const look = (): void => {
      quiet = isReading() ? 0 : quiet + 1;
      if (quiet > QUIET_FRAMES) arrive();
      else frame = requestAnimationFrame(look);
    };
    look();
    const late = setTimeout(arrive, LATEST_MS);
    return () => {
      cancelAnimationFrame(frame);
      clearTimeout(late);
    };
  }, [client]);
  return hasArrived;
};
