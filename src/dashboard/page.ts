// Renders the dashboard's page: a whole HTML document for each state.
import type { Html } from "../text/html.ts";
import { accountPage } from "./account-page.ts";
import type { Page } from "./layout.ts";
import { layOut } from "./layout.ts";
import { noAccountPage, problemPage, signedOutPage, signInOffPage, statusPage, suspendedPage } from "./message-page.ts";
import { contactPage, sessionPage } from "./record-page.ts";
import type { View } from "./view.ts";

/** Returns the document of a view, with all values escaped. `interfaceOff` adds a banner at the top. */
export function renderPage(view: View, interfaceOff: boolean): Html {
  return layOut(pageOf(view), interfaceOff);
}

function pageOf(view: View): Page {
  switch (view.kind) {
    case "signed out":
      return signedOutPage(view);
    case "sign-in off":
      return signInOffPage();
    case "no account":
      return noAccountPage(view);
    case "suspended":
      return suspendedPage(view);
    case "account":
      return accountPage(view);
    case "contact":
      return contactPage(view);
    case "session":
      return sessionPage(view);
    case "status":
      return statusPage(view);
    case "problem":
      return problemPage(view);
  }
}
