// Without one of its files the page stays empty: the network changed, or the server was about to start.
const showAndTryAgain = ({ target }) => {
  if (!(target instanceof HTMLScriptElement || target instanceof HTMLLinkElement)) return;
  document.body.textContent = 'The console could not be loaded. Trying again…';
  setTimeout(() => location.reload(), 2000);
};
addEventListener('error', showAndTryAgain, true);
