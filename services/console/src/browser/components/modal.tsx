import { Dialog, DialogHeading } from '@ariakit/react/dialog';
import type { ReactNode } from 'react';

/** A dialog in front of the page; Escape and a click outside close it, and focus goes back. */
export const Modal = (props: {
  title: string;
  isOpen: boolean;
  onClose: () => void;
  children: ReactNode;
}) => (
  <Dialog
    open={props.isOpen}
    onClose={props.onClose}
    unmountOnHide
    className="modal"
    backdrop={<div className="backdrop" />}
  >
    <DialogHeading>{props.title}</DialogHeading>
    {props.children}
  </Dialog>
);
