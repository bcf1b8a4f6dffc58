// Every page there is, in the order of the navigation. A page module gives
// `page = {path, title, nav?: {label, icon, group, badge?}, show(root, params, app) -> dispose}`.

import { page as approvals } from "./approvals.js";
import { page as audit } from "./audit.js";
import { page as memory } from "./memory.js";
import { page as policy } from "./policy.js";
import { page as questions } from "./questions.js";
import { page as replay } from "./replay.js";
import { page as search } from "./search.js";
import { page as session } from "./session.js";
import { page as sessions } from "./sessions.js";
import { page as tools } from "./tools.js";

export const pages = [sessions, session, replay, approvals, questions, search, memory, tools, policy, audit];
