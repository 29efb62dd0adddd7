import { useLocation } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { Unseen } from '../components/text.tsx';

/** A change of page is announced to screen readers by its title, and the keyboard goes on from its beginning. */
export const PageAnnouncer = () => {
  const { pathname } = useLocation();
  const former = useRef(pathname);
  const [title, setTitle] = useState('');
  useEffect(() => {
    const head = document.querySelector('title');
    if (head === null) return undefined;
    // A page sets its title once its content is there.
    const observer = new MutationObserver(() => {
      if (former.current === location.pathname) return;
      former.current = location.pathname;
      setTitle(document.title);
      if (
        document.activeElement === document.body ||
        document.activeElement?.closest('nav') !== null
      )
        document.getElementById('content')?.focus({ preventScroll: true });
    });
    observer.observe(head, { childList: true });
    return () => observer.disconnect();
  }, []);
  return (
    <Unseen role="status" aria-label="Page">
      {title}
    </Unseen>
  );
};
