import { useRouter, useRouterState } from '@tanstack/react-router';
import { useEffect } from 'react';

/**
 * Opens something of a page when its address ends with "#" and this name. The name is then taken from the address, so
 * that it opens again for the same address, and not when the page is loaded again.
 */
export const useOpenedByAddress = (name: string | undefined, open: () => void): void => {
  const router = useRouter();
  // The page of the former address is still there while that of the next one loads.
  const hash = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.hash });
  useEffect(() => {
    if (name === undefined || hash !== name) return;
    router.history.replace(location.pathname + location.search);
    open();
  }, [hash, name]);
};
