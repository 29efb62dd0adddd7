import type { ReactNode } from 'react';
import { Callout } from './callout.tsx';
import { CopyButton } from './copy-button.tsx';
import { Secret } from './secret.tsx';

/** A secret that the server does not show again, with a button that copies it. */
export const ShownOnce = (props: {
  /** Its name on the copy button: "the new token". */
  what: string;
  secret: string;
  /** Accessible name of the region. */
  label?: string;
  /** Where it is used. */
  children?: ReactNode;
}) => (
  <Callout role="status" aria-label={props.label}>
    <p>It is shown now and never again. {props.children}</p>
    <Secret>{props.secret}</Secret> <CopyButton text={props.secret} label={`Copy ${props.what}`} />
  </Callout>
);
