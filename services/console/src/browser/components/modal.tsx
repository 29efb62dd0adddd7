import { lazy, Suspense, useState } from 'react';
import { classes } from './classes.ts';
import type { ModalProps } from './in-front.tsx';
import styles from './modal.module.css';

const InFront = lazy(async () => ({ default: (await import('./in-front.tsx')).InFront }));

/** Stays once it has been open: it gives the focus back when it closes. */
const OnceOpened = (props: ModalProps & { readonly className: string | undefined }) => {
  const [wasOpened, setOpened] = useState(props.isOpen);
  if (props.isOpen && !wasOpened) setOpened(true);
  return (
    wasOpened && (
      <Suspense>
        <InFront {...props} />
      </Suspense>
    )
  );
};

/** A dialog in front of the page; Escape and a click outside close it, and focus goes back. */
export const Modal = (props: ModalProps) => <OnceOpened {...props} className={styles['modal']} />;

/** A dialog of the same kind at the right edge of the window, as high as the window. */
export const SidePanel = (props: ModalProps) => (
  <OnceOpened {...props} className={classes(styles['modal'], styles['side-panel'])} />
);
