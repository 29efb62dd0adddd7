import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

/** A link to the page of a certificate; its text is the serial number unless another is given. */
export const CertificateLink = (props: { mount: string; serial: string; children?: ReactNode }) => (
  <Link
    to="/ui/certificates/$mount/certificate/$serial"
    params={{ mount: props.mount, serial: props.serial }}
  >
    {props.children ?? <code className="serial">{props.serial}</code>}
  </Link>
);
