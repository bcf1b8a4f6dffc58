// Every page there is, in the order of the navigation. A page module gives
// `page = {path, title, nav?: {label, icon, group, badge?}, show(root, params, app) -> dispose}`.

import { page as session } from "./session.js";
import { page as sessions } from "./sessions.js";

export const pages = [sessions, session];
