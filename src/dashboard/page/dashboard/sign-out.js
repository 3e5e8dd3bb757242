// Sends the sign-out form once: a second click would cancel the response that leads to the identity provider.

/** Longer than the service waits for the provider: the user may have cancelled the first submission. */
const repeatableAfterMs = 5_000;

/** Ignores further submissions of the form. A page that the browser restores is reloaded, and so begins anew. */
export function startSignOut() {
  let isSent = false;
  document.querySelector('form[action="/sign-out"]')?.addEventListener("submit", (event) => {
    if (isSent) event.preventDefault();
    else setTimeout(() => (isSent = false), repeatableAfterMs);
    isSent = true;
  });
}
