import { createLink } from '@tanstack/react-router';
import { Anchor } from './anchor.tsx';

/** A link to a page of the console, by its route. */
export const PageLink = createLink(Anchor);
