import { Dialog, DialogHeading } from '@ariakit/react/dialog';
import type { ReactNode } from 'react';
import { classes } from './classes.ts';
import { CommandsOfPage } from './command-registry.ts';
import styles from './modal.module.css';
import { PageHeading } from './text.tsx';

export interface ModalProps {
  readonly title: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

const InFront = (props: ModalProps & { readonly className: string | undefined }) => (
  <Dialog
    open={props.isOpen}
    onClose={props.onClose}
    unmountOnHide
    className={props.className}
    backdrop={<div className={styles['backdrop']} />}
  >
    <DialogHeading render={<PageHeading />} className={styles['heading']}>
      {props.title}
    </DialogHeading>
    <CommandsOfPage value={undefined}>{props.children}</CommandsOfPage>
  </Dialog>
);

/** A dialog in front of the page; Escape and a click outside close it, and focus goes back. */
export const Modal = (props: ModalProps) => <InFront {...props} className={styles['modal']} />;

/** A dialog of the same kind at the right edge of the window, as high as the window. */
export const SidePanel = (props: ModalProps) => (
  <InFront {...props} className={classes(styles['modal'], styles['side-panel'])} />
);
