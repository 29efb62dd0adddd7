/** A dialog with its behaviour, which is loaded when the first one opens. */
import { Dialog, DialogHeading } from '@ariakit/react/dialog';
import type { ReactNode } from 'react';
import { CommandsOfPage } from './command-registry.ts';
import styles from './modal.module.css';
import { PageHeading } from './text.tsx';

export interface ModalProps {
  readonly title: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

export const InFront = (props: ModalProps & { readonly className: string | undefined }) => (
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
