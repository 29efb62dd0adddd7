import { useState } from 'react';
import { notify } from '../api/notices.ts';
import { Button } from './button.tsx';

const SHOWN_MS = 2000;

export const CopyButton = ({ text, label }: { text: string; label: string }) => {
  const [isCopied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // Browsers have no clipboard for pages of another host without TLS, and a person may forbid it.
      notify('The browser lets this page copy nothing: select the text instead.');
      return;
    }
    setCopied(true);
    setTimeout(() => setCopied(false), SHOWN_MS);
  };
  return (
    <Button look="small" aria-label={label} onClick={() => void copy()}>
      {isCopied ? 'Copied' : 'Copy'}
    </Button>
  );
};
