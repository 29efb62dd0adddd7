import type { ReactNode } from 'react';
import { PageLink } from '../components/page-link.tsx';
import { Code } from '../components/text.tsx';

/** A link to the page of a certificate; its text is the serial number unless another is given. */
export const CertificateLink = (props: { mount: string; serial: string; children?: ReactNode }) => (
  <PageLink
    to="/ui/certificates/$mount/certificate/$serial"
    params={{ mount: props.mount, serial: props.serial }}
  >
    {props.children ?? <Code isSmall>{props.serial}</Code>}
  </PageLink>
);
