//! Tests of whole runs.

use crate::application_master::{MasterMode, YarnJob, YarnTask};
use crate::checker::YarnChecker;
use crate::event::{NodeFact, YarnEvent, YarnFact, YarnWait};
use crate::fault::{LivenessLimits, YarnFaults};
use crate::mapreduce_master::MapReduceTimes;
use crate::message::{ContainerEnd, ContainerId, MasterId, NodeId, PlaceId, Yarn};
use crate::run::{YarnNode, YarnRunSpec};
use crate::settings::YarnSettings;
use crate::size::YarnSize;
use bench::YarnMishap;
use mumakil_core::mapred::SlotKind;

mod bench;
mod faults;
pub(crate) mod folder;
mod golden;
mod invariants;
mod mapreduce;
mod rules;
mod scenarios;
mod waits;
