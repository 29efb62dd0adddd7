import { useState } from 'react';

const SHOWN_MS = 2000;

export const CopyButton = ({ text, label }: { text: string; label: string }) => {
  const [isCopied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), SHOWN_MS);
  };
  return (
    <button type="button" className="small" aria-label={label} onClick={() => void copy()}>
      {isCopied ? 'Copied' : 'Copy'}
    </button>
  );
};
