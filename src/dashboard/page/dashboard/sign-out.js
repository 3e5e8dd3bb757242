// Sends the sign-out form once: a second click would cancel the response that leads to the identity provider.

/** Ignores further submissions of the form. A page that the browser restores is reloaded, and so begins anew. */
export function startSignOut() {
  let isSent = false;
  document.querySelector('form[action="/sign-out"]')?.addEventListener("submit", (event) => {
    if (isSent) event.preventDefault();
    isSent = true;
  });
}
